"""What a labelling desk needs of a campaign: turns of its workers, holding up, an audit.

Which task a worker gets does not belong here (`leases`), nor does anything of pages and the web.
"""
