"""Language models and embedders: asked for words, for data by schema, and for vectors. None of them is needed."""
