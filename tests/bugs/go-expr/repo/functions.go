package expr

import "errors"

// ErrArguments is the error of a function that got too few.
var ErrArguments = errors.New("arguments missing")

var functions = map[string]func([]int64) (int64, error){
	"min": smallest,
	"max": largest,
	"sum": sum,
	"avg": average,
}

func smallest(args []int64) (int64, error) {
	if len(args) == 0 {
		return 0, ErrArguments
	}
	best := args[0]
	for _, v := range args[1:] {
		if v < best {
			best = v
		}
	}
	return best, nil
}

func largest(args []int64) (int64, error) {
	if len(args) == 0 {
		return 0, ErrArguments
	}
	best := args[0]
	for _, v := range args[1:] {
		if v > best {
			best = v
		}
	}
	return best, nil
}

func sum(args []int64) (int64, error) {
	total := int64(0)
	for _, v := range args {
		total += v
	}
	return total, nil
}

// average is rounded towards zero.
func average(args []int64) (int64, error) {
	total, err := sum(args)
	return total / int64(len(args)), err
}
