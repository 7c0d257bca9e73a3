"""The one place that judges a column: gene, fact of a sample, fact of a gene, test or replicate.

Names decide where no gene is called so (`names`), numbers where names do not (`genes`,
`samples`), and times and labels make series (`series`). How tables are opened is not here.
"""
