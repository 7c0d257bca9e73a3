"""A campaign behind a labelling desk: turns of its workers, pausing, an audit.

Which task a worker gets does not belong here (`leases`), nor does anything of pages and the web.
"""
