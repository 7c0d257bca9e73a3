"""The labelling desk: pages for workers and the operator, and an API, over a campaign.

Needs the extra ``serve`` (FastAPI, uvicorn, ...). Which task a worker gets and what becomes of an
answer does not belong here (`campaign`): a page only asks and shows.
"""
