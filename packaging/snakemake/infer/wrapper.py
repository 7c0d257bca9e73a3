"""Infer a gene network by `grn-tvcs infer`: a wrapper of Snakemake."""

import shlex

from snakemake.shell import shell

given = snakemake  # noqa: F821 - Snakemake puts its object here
words = ["grn-tvcs", "infer", given.input[0], "--out", given.output[0]]
for option, value in given.params.items():
    words += [f"--{option.replace('_', '-')}"] + ([] if value is True else [str(value)])
words += ["--threads", str(given.threads)]
shell(f"{shlex.join(words)} {given.log_fmt_shell(stdout=True, stderr=True)}")
