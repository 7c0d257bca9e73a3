process TVCS_INFER {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(expression)

    output:
    tuple val(meta), path("${prefix}/edges.tsv")      , emit: edges
    tuple val(meta), path("${prefix}/network.graphml"), emit: graphml
    tuple val(meta), path("${prefix}/report.html")    , emit: report
    tuple val(meta), path("${prefix}/run.json")       , emit: record
    tuple val("${task.process}"), val('tvcs'), eval("tvcs --version | sed 's/.* //'"), topic: versions, emit: versions_tvcs

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix   = task.ext.prefix ?: "${meta.id}"
    """
    grn-tvcs infer ${expression} --out ${prefix} --threads ${task.cpus} ${args}
    """

    stub:
    prefix   = task.ext.prefix ?: "${meta.id}"
    """
    mkdir ${prefix}
    touch ${prefix}/edges.tsv ${prefix}/network.graphml ${prefix}/report.html ${prefix}/run.json
    """
}
