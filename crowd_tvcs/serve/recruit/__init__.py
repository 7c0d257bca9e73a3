"""People who sign up by themselves: a page of consent, a seat, and the way back when done.

Seats are given in `crowd_tvcs.campaign.desk.seats`. The pages of seated people are in
`serve.worker`.
"""
