// Package heap is the tree that storage uses until it speaks the contract of
// package index: to go.
package heap
