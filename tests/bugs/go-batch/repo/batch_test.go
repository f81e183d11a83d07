package batch

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// sink keeps what was sent, "a+b" for a batch of two.
type sink struct {
	batches []string
	err     error
	clock   time.Time
}

func (s *sink) send(messages []string) error {
	if s.err != nil {
		return s.err
	}
	s.batches = append(s.batches, strings.Join(messages, "+"))
	return nil
}

func (s *sink) now() time.Time { return s.clock }

func build(limits Limits) (*Batcher, *sink) {
	s := &sink{clock: time.Unix(1000, 0)}
	return New(limits, s.send, s.now), s
}

func add(t *testing.T, b *Batcher, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := b.Add(m); err != nil {
			t.Fatalf("%s: %v", m, err)
		}
	}
}

func sent(t *testing.T, s *sink, want string) {
	t.Helper()
	if got := strings.Join(s.batches, " "); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestNothing(t *testing.T) {
	b, s := build(Limits{})
	if err := b.Flush(); err != nil {
		t.Error(err)
	}
	sent(t, s, "")
}

func TestFlush(t *testing.T) {
	b, s := build(Limits{})
	add(t, b, "a", "b")
	sent(t, s, "")
	b.Flush()
	b.Flush()
	sent(t, s, "a+b")
}

func TestItems(t *testing.T) {
	b, s := build(Limits{Items: 2})
	add(t, b, "a", "b", "c", "d", "e")
	sent(t, s, "a+b c+d")
}

func TestBytes(t *testing.T) {
	b, s := build(Limits{Bytes: 6})
	add(t, b, "aaa", "bbb")
	sent(t, s, "aaa+bbb")
}

func TestBytesOfSeveralBatches(t *testing.T) {
	b, s := build(Limits{Bytes: 6})
	add(t, b, "aa", "bb", "ccc", "dd", "ee", "f")
	sent(t, s, "aa+bb ccc+dd")
	b.Flush()
	sent(t, s, "aa+bb ccc+dd ee+f")
}

func TestTooLarge(t *testing.T) {
	b, s := build(Limits{Bytes: 3})
	add(t, b, "a")
	if err := b.Add("bbbb"); err != ErrTooLarge {
		t.Error(err)
	}
	b.Flush()
	sent(t, s, "a")
}

func TestPending(t *testing.T) {
	b, _ := build(Limits{})
	add(t, b, "aa", "b")
	if messages, bytes := b.Pending(); messages != 2 || bytes != 3 {
		t.Error(messages, bytes)
	}
	b.Flush()
	if messages, bytes := b.Pending(); messages != 0 || bytes != 0 {
		t.Error(messages, bytes)
	}
}

func TestAge(t *testing.T) {
	b, s := build(Limits{Age: time.Second})
	add(t, b, "a")
	s.clock = s.clock.Add(999 * time.Millisecond)
	b.Tick()
	sent(t, s, "")
	s.clock = s.clock.Add(time.Millisecond)
	b.Tick()
	sent(t, s, "a")
}

func TestAgeOfTheNext(t *testing.T) {
	b, s := build(Limits{Age: time.Second})
	add(t, b, "a")
	s.clock = s.clock.Add(5 * time.Second)
	b.Tick()
	add(t, b, "b")
	b.Tick()
	sent(t, s, "a")
}

func TestFailureKeepsTheMessages(t *testing.T) {
	b, s := build(Limits{Items: 2})
	s.err = errors.New("down")
	add(t, b, "a")
	if err := b.Add("b"); err != s.err {
		t.Error(err)
	}
	s.err = nil
	b.Flush()
	sent(t, s, "a+b")
}

func TestClose(t *testing.T) {
	b, s := build(Limits{})
	add(t, b, "a")
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	sent(t, s, "a")
	if b.Add("b") != ErrClosed || b.Close() != ErrClosed {
		t.Error("it is closed")
	}
}

func TestStats(t *testing.T) {
	b, _ := build(Limits{Items: 3})
	if got := b.Stats().Mean(); got != 0 {
		t.Error(got)
	}
	add(t, b, "a", "bb", "c", "dd")
	b.Flush()
	want := "2 batches, 4 messages (2.0 each, at most 3), 6 bytes, 0 failed, 0 refused"
	if got := b.Stats().String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTogether(t *testing.T) {
	b, s := build(Limits{Items: 10})
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := 0; n < 25; n++ {
				b.Add("x")
			}
		}()
	}
	all.Wait()
	if len(s.batches) != 20 {
		t.Errorf("%d batches", len(s.batches))
	}
}
