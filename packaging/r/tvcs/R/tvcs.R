tvcs_available <- function() {
  reticulate::py_module_available("grn_tvcs")
}

# Tables come back through files: every version of reticulate can do that.
infer_network <- function(levels, ..., max_edges = 60L, seed = 0L) {
  grn <- reticulate::import("grn_tvcs")
  network <- grn$infer(levels, ..., max_edges = as.integer(max_edges), rng = as.integer(seed))
  file <- tempfile(fileext = ".tsv")
  on.exit(unlink(file))
  grn$write_edges(network, file)
  edges <- utils::read.delim(file, na.strings = "")
  edges[edges$selected == 1, ]
}

plan_crowd <- function(quality, budget, ..., seed = 0L) {
  crowd <- reticulate::import("crowd_tvcs")
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  table <- data.frame(worker = rownames(quality), quality, check.names = FALSE)
  utils::write.csv(table, file, row.names = FALSE)
  read <- crowd$read_quality(file)
  plan <- crowd$Plan(read$quality, budget = as.integer(budget), ...)
  found <- crowd$assign(plan, "best", rng = as.integer(seed))
  pairs <- found$pairs()
  data.frame(worker = vapply(pairs, function(pair) pair[[1]], ""),
             task = vapply(pairs, function(pair) pair[[2]], ""))
}
