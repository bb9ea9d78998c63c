"""Data made elsewhere, converted into stores of ours, and what a check of them against our solvers finds."""
