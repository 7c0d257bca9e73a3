"""Tables of few lines on one side: shortest paths between these lines."""
