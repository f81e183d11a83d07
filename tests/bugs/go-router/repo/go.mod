module example.org/router

go 1.18
