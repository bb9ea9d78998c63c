"""The models of the package neuraloperator."""
