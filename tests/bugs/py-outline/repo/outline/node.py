"""Tree of an outline."""


class Node:
    def __init__(self, title, parent=None):
        self.title = title
        self.parent = parent
        self.children = []
        self.done = None

    def append(self, title):
        child = Node(title, self)
        self.children.append(child)
        return child

    @property
    def depth(self):
        return 0 if self.parent is None else self.parent.depth + 1

    def walk(self):
        for child in self.children:
            yield child
            yield from child.walk()

    def last_leaf(self):
        """The node at the end of the printed outline."""
        node = self
        while node.children:
            node = node.children[-1]
        return node

    def previous(self):
        """The sibling above, or None."""
        siblings = self.parent.children if self.parent else [self]
        index = siblings.index(self)
        return siblings[index - 1] if index > 0 else None

    def blocked(self):
        """Items are done in order: the one above comes first."""
        above = self.previous()
        return above.done is False

    def continues(self):
        """Same state as the sibling above?"""
        above = self.previous()
        return above is not None and above.done == self.done
