"""Looking inside a model: one watched forward, and the maths on what it left."""
