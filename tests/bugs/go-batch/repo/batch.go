// Package batch collects messages and hands them on together.
package batch

import (
	"errors"
	"sync"
	"time"
)

// ErrTooLarge is the error of a message that no batch has room for.
var ErrTooLarge = errors.New("message too large")

// ErrClosed is the error of a batcher that was closed.
var ErrClosed = errors.New("closed")

// Limits say when a batch is full.
type Limits struct {
	Items int           // 0: any number
	Bytes int           // 0: any size
	Age   time.Duration // of the oldest message; 0: any age
}

// Send takes a batch; when it fails, the batch is tried again later.
type Send func(messages []string) error

// Batcher is safe for use by several goroutines.
type Batcher struct {
	mu       sync.Mutex
	limits   Limits
	send     Send
	now      func() time.Time
	messages []string
	bytes    int
	oldest   time.Time
	closed   bool
	stats    Stats
}

// New returns an empty batcher; now is time.Now but for tests.
func New(limits Limits, send Send, now func() time.Time) *Batcher {
	return &Batcher{limits: limits, send: send, now: now}
}

// Add takes a message, and sends what there is when that makes it full.
func (b *Batcher) Add(message string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	if b.limits.Bytes > 0 && len(message) > b.limits.Bytes {
		b.stats.Refused++
		return ErrTooLarge
	}
	if b.limits.Bytes > 0 && b.bytes+len(message) > b.limits.Bytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if len(b.messages) == 0 {
		b.oldest = b.now()
	}
	b.messages = append(b.messages, message)
	b.bytes += len(message)
	if b.full() {
		return b.flush()
	}
	return nil
}

func (b *Batcher) full() bool {
	l := b.limits
	return l.Items > 0 && len(b.messages) >= l.Items ||
		l.Bytes > 0 && b.bytes >= l.Bytes ||
		b.expired()
}

func (b *Batcher) expired() bool {
	return b.limits.Age > 0 && len(b.messages) > 0 &&
		b.now().Sub(b.oldest) >= b.limits.Age
}

// flush sends all; the caller has the lock.
func (b *Batcher) flush() error {
	if len(b.messages) == 0 {
		return nil
	}
	if err := b.send(b.messages); err != nil {
		b.stats.Failed++
		return err
	}
	b.stats.note(len(b.messages), b.bytes)
	b.messages = nil
	return nil
}

// Flush sends what there is.
func (b *Batcher) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

// Tick sends what has become too old; call it from time to time.
func (b *Batcher) Tick() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.expired() {
		return nil
	}
	return b.flush()
}

// Pending is the number of messages, and of their bytes, that wait.
func (b *Batcher) Pending() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.messages), b.bytes
}

// Close sends what there is and takes no more.
func (b *Batcher) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	b.closed = true
	return b.flush()
}

// Stats returns the figures so far.
func (b *Batcher) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}
