"""Golden numbers: a few numbers of each version of everything that computes, compared after every change."""
