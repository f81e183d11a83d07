package batch

import "fmt"

// Stats are the figures of a batcher.
type Stats struct {
	Batches, Messages, Bytes int
	Largest                  int // messages of the largest batch
	Failed, Refused          int
}

func (s *Stats) note(messages, bytes int) {
	s.Batches++
	s.Messages += messages
	s.Bytes += bytes
	if messages > s.Largest {
		s.Largest = messages
	}
}

// Mean is the number of messages of a batch.
func (s Stats) Mean() float64 {
	if s.Batches == 0 {
		return 0
	}
	return float64(s.Messages) / float64(s.Batches)
}

func (s Stats) String() string {
	return fmt.Sprintf("%d batches, %d messages (%.1f each, at most %d), %d bytes, %d failed, %d refused",
		s.Batches, s.Messages, s.Mean(), s.Largest, s.Bytes, s.Failed, s.Refused)
}
