"""Annotation server: pages for workers and the operator, and an API, for a campaign.

Needs the extra ``serve`` (FastAPI, uvicorn, ...). The choice of tasks and the treatment of answers
belong to `campaign`: a page only calls it and shows the result.
"""
