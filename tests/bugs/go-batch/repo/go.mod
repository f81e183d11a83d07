module example.org/batch

go 1.18
