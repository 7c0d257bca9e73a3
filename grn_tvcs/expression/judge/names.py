"""Names that give the role of a column, each list with the programs that write it.

Whole names are compared, in any case unless a comment excepts them: ``RIN1``, ``TOTAL2`` or
``Timeless`` match nothing. Where a gene may be called so, numbers decide as well: see `genes`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tvcs_core import DataError
from tvcs_core.files.errors import Remedies

INDEX = ("", "unnamed: 0")  # how R and pandas head the names of rows
INDEX_READ = "x"  # what R's `read.csv` calls the column that `write.csv` left without a name
SERIES = ("series", "condition", "replicate")
NAMED = ("time", *SERIES, "perturbed", "sample")  # headings that say what a column is


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Headings of names of genes, with those of Entrez, Ensembl, GEO, Cufflinks, StringTie and SGD.
OF_GENES = _any(
    r"(gene|transcript|probe|probeset|feature|symbol|tx|protein)s?([\W_]?(ids?|names?|symbols?))?",
    r"id_ref|(entrez|ensembl|ensg|refseq|locus)([\W_]?gene)?([\W_]?(ids?|tag))?",
    r"tracking_id|target_id|gene_short_name|orf|hgnc([\W_]?symbol)?|mgi([\W_]?symbol)?",
)
# Headings of the ends of an edge, ours and those of other programs and databases.
REGULATOR = (
    "regulator", "source", "from", "tf", "gene1", "regulatorygene", "regulatory.gene",
    "3)regulatorgenename",
)  # fmt: skip
TARGET = ("target", "to", "gene2", "targetgene", "target.gene", "5)regulatedname")
# Headings of numbers that name genes, and of what may be a name of anything.
OF_IDS = _any(r"x|ids?|names?|identifiers?|accession|unnamed: 0|")
# Names that mean a time and are not ``Time``: no gene is called so, and taken for one it would
# make steady states of a time course without a word. Scanpy writes dpt_pseudotime, scVelo
# latent_time and velocity_pseudotime, Palantir palantir_pseudotime.
CLOCK = _any(
    r"((pseudo|real|latent|\w+_pseudo)[\W_]?)?time([\W_].*|points?|s)?",
    r"hours?|minutes?|days?|hpf|hpi|latent_time|\w*pseudotime",
)
# Other headings of times, which may be genes as well: taken for times where numbers rise.
MAY_BE_TIME = _any(
    r"t|tp|h|hrs?|mins?|secs?|d|wks?|zeit|temps?|tiempo|tempo|elapsed|generations?|frames?|cycles?"
    r"|stages?|age|doublings?"
)
TIME_WITH_UNIT = _any(r"time *[(\[][^()\[\]]*[)\]]")  # Time (h), which is a time for certain
# Headings that name cells or samples for certain.
OF_CELLS = _any(r"(sample|cell|array|run)s?([\W_]?(ids?|names?|accession|barcodes?))?|barcodes?")
# Names that may tell series apart, of which the table or the user has to say it.
MAY_BE_SERIES = _any(
    r"((bio|tech|biol|technical|biological)?[\W_]*rep(l|s|licates?)?|batch|donor|patient|subject"
    r"|animal|mouse|plate|clone|run|experiment|treatment|group|genotype)[\W_]?(no|nr|id|name)?"
    r"|strain|tissue|line|cell[\W_]?line|colony|culture|flask|individual|medium|media|drug|treated"
    r"|controls?|infected|induced|stress(ed)?|starved|light|(is[\W_]?)?mutant"
)
# Control probes of Affymetrix and Agilent, spike-ins, and what HTSeq and STAR count beside genes;
# capitals count.
CONTROL = re.compile(
    r"AFFX[-_.].+|ERCC[-_.][0-9]{5}|__(no_feature|ambiguous|too_low_aQual|not_aligned"
    r"|alignment_not_unique)|N_(unmapped|multimapping|noFeature|ambiguous)"
    r"|(GE_)?BrightCorner|DarkCorner|NegativeControl|\(\+\)E1A_.+|\(-\)3xSLv1"
)
# Results of tests. DESeq2, limma's topTable, edgeR's topTags, Seurat's FindMarkers, scanpy's
# rank_genes_groups, sleuth, Cuffdiff.
STATISTIC = _any(
    r"(avg_)?log(2|10)?[_. ]?\(?fold[_. ]?changes?\)?|(avg_)?log2?_?fc|lfcse",
    r"p[_. -]?val(ue)?s?([_. ]?adj)?|(adj|fdr)[_. ]?p[_. ]?val(ue)?|pvals?_adj",
    r"(.+[\W_])?(p[_. ]?adj|p[_. ]?val(ue)?|q[_. ]?val(ue)?)([\W_].+)?",  # of several tests
    r"fdr([_. ]?bh)?|q[_. -]?val(ue)?s?|base_?mean|ave_?expr|log_?cpm",
    r"mean_obs|var_obs|tech_var|(smooth_|final_)?sigma_sq|degrees_free",
)
# What stands beside them, and by itself may be a gene or a sample: T, B and F are; capitals count.
OF_TESTS = re.compile(
    r"stat|t|B|F|LR|beta|se_b|rss|scores?|pct[._][12]|test_stat|significant|status"
)
# Spreads beside means, as `summarise` of R and `agg` of pandas call them.
SPREAD = _any(
    r"(?P<behind>.+)[\W_](sd|sem?|std|st(d|andard)?[\W_]?(dev(iation)?|err(or)?)|cv|variance)",
    r"(sd|sem?|std|st(d|andard)?[\W_]?(dev(iation)?|err(or)?)|cv|variance)[\W_](?P<before>.+)",
)
# Facts of samples. scanpy's and Seurat's quality control, clusters and scores; sizes of edgeR and
# DESeq2; what hospitals, plate readers and core facilities note. None is a symbol of a gene.
OF_SAMPLES = _any(
    r"(log1p_)?(total|mean)_counts(_\w+)?|(log1p_)?n_(genes|features|umis?)(_by_counts)?|n_counts"
    r"|pct_counts_\w+|n(count|feature)_\w+|n(umi|gene)s?|percent[._](mt|mito|ribo|rb|hb|\w+)",
    r"orig\.ident|seurat_clusters|\w+_snn_res\.[\d.]+|(leiden|louvain|clusters?)(_.*)?"
    r"|cell_?types?|(s|g2m)[._]score|phase|(predicted_)?doublets?(_scores?)?|mito(_\w+)?",
    r"(umap|t-?sne|pca?|diffmap)[_ -]\d+|umap\d",
    r"(lib(rary)?|total)[_. ]?(size|reads|counts|umis?)|(norm|size|scaling)[_. ]?factors?",
    r"(mapped|aligned|raw|clean|input|assigned)[_. ]?reads|m?reads(_m)?|seq(uencing)?[_. ]?depth",
    r"rine?([_. ]?(score|number))?|rqn|dv200|(rna|dna)?[_. ]?conc(entration)?([_. ]\w+)?"
    r"|ng[/_. ]?u?l|a?_?260[/_. ]?(280|230)|od[_ ]?(600)?|biomass|viability|passage|pmi|bmi",
    r"age([_. ]?(years|days|weeks))?|sex|gender|ethnicity|weight|height|smok(er|ing)|temperature",
    r"dos(e|age)([_. ]\w+)?|stimulus|inducer|iptg|glucose|oxygen|growth[_. ]?rate|(?-i:pH)",
    r"lane([_. ]?id)?|flow_?cell|well|pcr[_. ]?cycles|volume|dilution|(insert|ins\.|read|fragment)"
    r"[_. ]?(size|length)|(sample|barcode)[_. ]?index|length",
    # NanoString's nSolver: lanes and controls
    r"binding_?density|fov_?count(ed)?|cartridge_?id|positive_?control_?linearity"
    r"|limit_?of_?detection|(pos|neg)_[a-h](\(.*\))?",
)
# Several words of which one is of quality control, as MultiQC, STAR, CellRanger, Picard, RSeQC,
# Qualimap, samtools and featureCounts write them.
_WORDS_OF_QC = (
    r"reads?|mapp(ed|ing)|unmapped|align(ed|ment)?|dups|duplicat(es?|ion)|q30|saturation|bases"
    r"|barcodes?|umis?|adapters?|trimmed|exonic|intronic|intergenic|coverage|depth|yield"
    r"|rates?|fraction|percent(age)?|pct|ratio|concentration|insert|fragments?|assigned"
    r"|unassigned|doublets?|viability|purity|complexity|library|seqs|multimapp(ed|ing|ers)"
)
_QC = re.compile(rf"(^|[\W_])({_WORDS_OF_QC})([\W_]|$)", re.IGNORECASE)
_SEVERAL = re.compile(r"(?![a-z]+-[0-9])[^\W_]+([\W_]+[^\W_]+)+[\W_]*")  # pct-1 is a gene of worms
# What tables tell of their genes, beside the samples: featureCounts, biomaRt, GTF, Cufflinks,
# StringTie, NanoString and MaxQuant's proteinGroups.txt.
ANNOTATION = _any(
    r"chr(om(osome)?)?|seqnames?|strand|((gene|transcript|effective|sequence)[\W_]?)?lengths?|width"
    r"|(entrez|refseq|uniprot|hgnc|mgi|ensembl).*|(gene|transcript)?[\W_]?bio?type"
    r"|(gene[\W_]?)?descriptions?",
    r"class_code|nearest_ref_id|tss_id|code[\W_]?class|gc([\W_]?content)?",
    r"protein ids?|majority protein ids|fasta headers|protein names|gene names?|number of proteins"
    r"|(razor \+ |unique )*(unique |razor )?peptides|peptide counts.*|.*sequence coverage.*"
    r"|mol\. weight.*|q-value|only identified by site|potential contaminant"
    r"|.*peptide ids|.*peptide is razor|.*mod\. peptide ids|evidence ids|ms/ms ids|best ms/ms"
    r"|.*site (ids|positions)|ms/ms count|sequence lengths|oxidation.*",
)
# What tells of genes where another column does too, and may be a sample by itself.
PLACES = _any(r"start|end|score|reverse|reference|locus|annotation")
# Units of levels, behind the name of a sample or, as MaxQuant and cuffnorm write them, before it.
_UNITS = r"(?:raw[_. -]?)?counts?|raw|tpm|fpkm|rpkm|cpm|rlog|vst|norm(?:alized)?(?:[_. -]counts?)?"
_UNITS = rf"{_UNITS}|abundance|length"  # of tximport
_BEFORE = r"lfq intensity|intensity|ibaq|reporter intensity(?: corrected)?|ms/ms count|peptides"
_BEFORE = (
    rf"{_BEFORE}|unique peptides|razor \+ unique peptides|sequence coverage|identification type"
)
UNIT_BEHIND = re.compile(rf".+[_. -]({_UNITS})", re.IGNORECASE)
UNIT_BEFORE = re.compile(rf"({_BEFORE}|{_UNITS})[_. -].+", re.IGNORECASE)
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)"
# What a spreadsheet makes of MARCH1, SEPT2 or DEC1, as text or in the style of its country; and of
# a clone of RIKEN such as 2310009E13, a number.
DATE = _any(
    rf"\d{{1,4}}-{_MONTH}|{_MONTH}-\d{{1,4}}",
    r"(19|20)\d\d[-/]\d\d?[-/]\d\d?.*",
    r"\d{1,2}[./]\d{1,2}[./](19|20)?\d\d",
    r"\d[.,]\d+E\+\d+",
)


class Names:
    """Names of columns of one file that no option and no label claims.

    Parameters
    ----------
    path
        The file, for errors and warnings.
    names
        From left to right.
    keep
        Names that the user keeps as genes, whatever they look like.
    """

    def __init__(self, path: str, names: Sequence[str], keep: Sequence[str] = ()) -> None:
        self.path = path
        self.names = names
        self.keep = {name.lower() for name in keep}

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """Which are not kept by the user."""
        return np.array([name.lower() not in self.keep for name in self.names], dtype=bool)

    def match(self, *patterns: re.Pattern[str]) -> NDArray[np.bool_]:
        """Which match one of some patterns as a whole and are not kept."""
        found = [any(pattern.fullmatch(name) for pattern in patterns) for name in self.names]
        return np.array(found, dtype=bool) & self.is_free

    def at(self, is_in: Sequence[bool] | NDArray[np.bool_]) -> list[str]:
        """Return some of the names."""
        return [name for name, is_one in zip(self.names, is_in, strict=True) if is_one]

    def error(self, what: str, remedies: Remedies, column: str | None = None) -> DataError:
        """Make an error with the options that may read the table."""
        return DataError(what, path=self.path, column=column, remedies=remedies)


def is_of_samples(name: str) -> bool:
    """Whether a name is that of a fact of samples, and of no gene.

    Examples
    --------
    >>> [is_of_samples(name) for name in ("RIN", "total_counts_mt", "% Aligned", "Q30 Bases")]
    [True, True, True, True]
    >>> any(map(is_of_samples, ("RIN1", "T", "TOTAL", "STAT1", "Rep", "MT-CO1", "HLA.A", "PC")))
    False
    """
    if OF_SAMPLES.fullmatch(name) or "%" in name:
        return True
    return bool(_SEVERAL.fullmatch(name) and _QC.search(name))
