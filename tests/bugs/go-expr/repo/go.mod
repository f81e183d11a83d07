module example.org/expr

go 1.18
