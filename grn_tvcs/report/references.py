"""References of all methods in the style of a journal, by their citation."""

from __future__ import annotations

REFERENCES = {
    "Blumensath and Davies, 2009": "T. Blumensath and M. E. Davies. Iterative hard thresholding "
    "for compressed sensing. Applied and Computational Harmonic Analysis 27, 265 (2009)",
    "Chan et al., 2017": "T. E. Chan, M. P. H. Stumpf and A. C. Babtie. Gene regulatory network "
    "inference from single-cell data using multivariate information measures. Cell Systems 5, 251 "
    "(2017)",
    "Efron et al., 2004": "B. Efron, T. Hastie, I. Johnstone and R. Tibshirani. Least angle "
    "regression. Annals of Statistics 32, 407 (2004)",
    "Faith et al., 2007": "J. J. Faith, B. Hayete, J. T. Thaden et al. Large-scale mapping and "
    "validation of Escherichia coli transcriptional regulation from a compendium of expression "
    "profiles. PLoS Biology 5, e8 (2007)",
    "Friedman, 2001": "J. H. Friedman. Greedy function approximation: a gradient boosting "
    "machine. Annals of Statistics 29, 1189 (2001)",
    "Geurts et al., 2006": "P. Geurts, D. Ernst and L. Wehenkel. Extremely randomized trees. "
    "Machine Learning 63, 3 (2006)",
    "Haury et al., 2012": "A.-C. Haury, F. Mordelet, P. Vera-Licona and J.-P. Vert. TIGRESS: "
    "trustful inference of gene regulation using stability selection. BMC Systems Biology 6, 145 "
    "(2012)",
    "Huynh-Thu and Geurts, 2018": "V. A. Huynh-Thu and P. Geurts. dynGENIE3: dynamical GENIE3 for "
    "the inference of gene networks from time series expression data. Scientific Reports 8, 3384 "
    "(2018)",
    "Huynh-Thu et al., 2010": "V. A. Huynh-Thu, A. Irrthum, L. Wehenkel and P. Geurts. Inferring "
    "regulatory networks from expression data using tree-based methods. PLoS ONE 5, e12776 (2010)",
    "Marbach et al., 2012": "D. Marbach, J. C. Costello, R. Küffner et al. Wisdom of crowds for "
    "robust gene network inference. Nature Methods 9, 796 (2012)",
    "Margolin et al., 2006": "A. A. Margolin, I. Nemenman, K. Basso et al. ARACNE: an algorithm "
    "for the reconstruction of gene regulatory networks in a mammalian cellular context. BMC "
    "Bioinformatics 7 (Suppl 1), S7 (2006)",
    "Meinshausen and Bühlmann, 2010": "N. Meinshausen and P. Bühlmann. Stability selection. "
    "Journal of the Royal Statistical Society B 72, 417 (2010)",
    "Meyer et al., 2007": "P. E. Meyer, K. Kontos, F. Lafitte and G. Bontempi. Information-"
    "theoretic inference of large transcriptional regulatory networks. EURASIP Journal on "
    "Bioinformatics and Systems Biology 2007, 79879 (2007)",
    "Meyer et al., 2008": "P. E. Meyer, F. Lafitte and G. Bontempi. minet: a R/Bioconductor "
    "package for inferring large transcriptional networks using mutual information. BMC "
    "Bioinformatics 9, 461 (2008)",
    "Nguyen et al., 2012": "N. Nguyen, S. Chin and T. D. Tran. A unified iterative greedy "
    "algorithm for sparsity-constrained optimization. Johns Hopkins University (2012)",
    "Pati et al., 1993": "Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad. Orthogonal matching "
    "pursuit: recursive function approximation with applications to wavelet decomposition. "
    "Asilomar Conference on Signals, Systems and Computers 27, 40 (1993)",
    "Pearson, 1895": "K. Pearson. Note on regression and inheritance in the case of two parents. "
    "Proceedings of the Royal Society of London 58, 240 (1895)",
    "Pinna et al., 2010": "A. Pinna, N. Soranzo and A. de la Fuente. From knockouts to networks: "
    "establishing direct cause-effect relationships through graph analysis. PLoS ONE 5, e12912 "
    "(2010)",
    "Schaffter et al., 2011": "T. Schaffter, D. Marbach and D. Floreano. GeneNetWeaver: in silico "
    "benchmark generation and performance profiling of network inference methods. Bioinformatics "
    "27, 2263 (2011)",
    "Schmitt et al., 2004": "W. A. Schmitt, R. M. Raab and G. Stephanopoulos. Elucidation of gene "
    "interaction networks through time-lagged correlation analysis of transcriptional data. "
    "Genome Research 14, 1654 (2004)",
    "Schäfer and Strimmer, 2005": "J. Schäfer and K. Strimmer. A shrinkage approach to large-scale "
    "covariance matrix estimation and implications for functional genomics. Statistical "
    "Applications in Genetics and Molecular Biology 4, 32 (2005)",
    "Spearman, 1904": "C. Spearman. The proof and measurement of association between two things. "
    "American Journal of Psychology 15, 72 (1904)",
    "Yang et al., 2017": "H. Yang, S. Gui, C. Ke, D. Stefankovic, R. Fujimaki and J. Liu. On the "
    "projection operator to a three-view cardinality constrained set. Proceedings of the 34th "
    "International Conference on Machine Learning, PMLR 70, 3871 (2017)",
}


def cited(text: str) -> list[str]:
    """Return the references that a text cites, in alphabetical order."""
    return [full for key, full in REFERENCES.items() if key in text]
