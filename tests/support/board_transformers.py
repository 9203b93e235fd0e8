"""A transformer of torch that counts its work, and the same one that does not, as a worker process meets them."""

from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset


class Transformer:
    """One block of self-attention on embedded tokens, trained by AdamW on batches of a DataLoader."""

    def __init__(self, width: int = 32, epochs: int = 200, random_state: int = 0) -> None:
        self.width, self.epochs, self.random_state = width, epochs, random_state

    def fit(self, X: Any, Y: Any) -> "Transformer":
        torch.manual_seed(self.random_state)
        d, width = X.shape[2], self.width
        block = torch.nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.network = torch.nn.Sequential(torch.nn.Linear(d, width), block, torch.nn.Linear(width, d))
        optimizer = torch.optim.AdamW(self.network.parameters(), lr=3e-3)
        rows = TensorDataset(torch.tensor(X).float(), torch.tensor(Y).float())
        loader = DataLoader(rows, batch_size=64, shuffle=True)
        for _ in range(self.epochs):
            for x, y in loader:
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(self.network(x), y).backward()
                optimizer.step()
        return self

    def predict(self, X: Any) -> Any:
        with torch.no_grad():
            return self.network(torch.tensor(X).float()).double().numpy()

    def gradient_examples(self, examples: int, tokens: int, dim: int) -> float:
        """Every pass counted."""
        return float(examples * self.epochs)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Three times those of predictions: 8 width² of a block, two embeddings, scores and sums over tokens."""
        token = 8 * self.width**2 + 2 * dim * self.width + 2 * tokens * self.width
        return 3.0 * token * tokens * examples * self.epochs


class Optimizes:
    """Makes an optimizer, and learns nothing."""

    def fit(self, X: Any, Y: Any) -> "Optimizes":
        torch.optim.Adam([torch.zeros(1, requires_grad=True)])
        return self

    def predict(self, X: Any) -> Any:
        return torch.zeros(X.shape).double().numpy()


class TransformerUncounted(Transformer):
    """The same, which does not say what it costs."""

    multiply_adds = None  # type: ignore[assignment]
