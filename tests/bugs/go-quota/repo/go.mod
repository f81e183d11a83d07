module example.org/quota

go 1.18
