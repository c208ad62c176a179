package toolimpl_test

import (
	"errors"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
)

// The hand-written decoders that generated code is measured against: what an
// engineer would tune for exactly these two types. They check what generated
// code checks (required, unknown and duplicate keys, enum, UTF-8, trailing
// data) and stop at the first problem.

var errHand = errors.New("not acceptable")

type hand struct {
	data []byte
	pos  int
	bad  bool
	buf  []byte
}

var hands = sync.Pool{New: func() any { return new(hand) }}

func (h *hand) space() byte {
	for h.pos < len(h.data) {
		c := h.data[h.pos]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		h.pos++
	}
	return 0
}

func (h *hand) expect(c byte) bool {
	if h.bad || h.space() != c {
		h.bad = true
		return false
	}
	h.pos++
	return true
}

// raw reads a string and returns its bytes, unescaped where needed.
func (h *hand) raw() []byte {
	if !h.expect('"') {
		return nil
	}
	first := h.pos
	high := byte(0)
	for h.pos < len(h.data) {
		c := h.data[h.pos]
		high |= c
		switch {
		case c == '"':
			b := h.data[first:h.pos]
			h.pos++
			if high >= utf8.RuneSelf && !utf8.Valid(b) {
				h.bad = true
			}
			return b
		case c == '\\':
			return h.escaped(first)
		case c < ' ':
			h.bad = true
			return nil
		}
		h.pos++
	}
	h.bad = true
	return nil
}

// escaped is raw from the first escape on.
func (h *hand) escaped(first int) []byte {
	h.buf = append(h.buf[:0], h.data[first:h.pos]...)
	for h.pos < len(h.data) {
		c := h.data[h.pos]
		h.pos++
		switch {
		case c == '"':
			if !utf8.Valid(h.buf) {
				h.bad = true
			}
			return h.buf
		case c < ' ':
			h.bad = true
			return nil
		case c != '\\':
			h.buf = append(h.buf, c)
			continue
		}
		if h.pos >= len(h.data) {
			break
		}
		e := h.data[h.pos]
		h.pos++
		switch e {
		case '"', '\\', '/':
			h.buf = append(h.buf, e)
		case 'n':
			h.buf = append(h.buf, '\n')
		case 't':
			h.buf = append(h.buf, '\t')
		case 'u':
			if h.pos+4 > len(h.data) {
				h.bad = true
				return nil
			}
			v, err := strconv.ParseUint(string(h.data[h.pos:h.pos+4]), 16, 32)
			if err != nil || v >= 0xD800 && v < 0xE000 {
				h.bad = true
				return nil
			}
			h.buf = utf8.AppendRune(h.buf, rune(v))
			h.pos += 4
		default:
			h.bad = true
			return nil
		}
	}
	h.bad = true
	return nil
}

func (h *hand) str() string { return string(h.raw()) }

func (h *hand) number() []byte {
	h.space()
	first := h.pos
	for h.pos < len(h.data) {
		switch c := h.data[h.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			h.pos++
			continue
		}
		break
	}
	b := h.data[first:h.pos]
	if len(b) == 0 || b[0] == '+' || b[0] == '.' || len(b) > 1 && b[0] == '0' && b[1] >= '0' && b[1] <= '9' {
		h.bad = true
	}
	return b
}

func (h *hand) integer() int64 {
	b := h.number()
	if h.bad || len(b) == 0 {
		return 0
	}
	neg := b[0] == '-'
	digits := b
	if neg {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		v, err := strconv.ParseInt(string(b), 10, 64)
		h.bad = h.bad || err != nil
		return v
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			h.bad = true
			return 0
		}
		v = v*10 + int64(c-'0')
	}
	if neg {
		return -v
	}
	return v
}

func (h *hand) float() float64 {
	b := h.number()
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	h.bad = h.bad || err != nil
	return v
}

func (h *hand) null() bool {
	if h.space() == 'n' && h.pos+4 <= len(h.data) && string(h.data[h.pos:h.pos+4]) == "null" {
		h.pos += 4
		return true
	}
	return false
}

// object reads an object; field reads the value of a key and returns its bit,
// or 0 for an unknown key.
func (h *hand) next(first *bool) []byte {
	if h.bad {
		return nil
	}
	if *first {
		*first = false
		if !h.expect('{') {
			return nil
		}
		if h.space() == '}' {
			h.pos++
			return nil
		}
	} else {
		switch h.space() {
		case ',':
			h.pos++
		case '}':
			h.pos++
			return nil
		default:
			h.bad = true
			return nil
		}
	}
	h.space()
	key := h.raw()
	h.expect(':')
	return key
}

func (h *hand) seen(bits *uint32, bit uint32) {
	if *bits&bit != 0 {
		h.bad = true
	}
	*bits |= bit
}

func (h *hand) element(first *bool) bool {
	if h.bad {
		return false
	}
	if *first {
		*first = false
		if !h.expect('[') {
			return false
		}
		if h.space() == ']' {
			h.pos++
			return false
		}
		return true
	}
	switch h.space() {
	case ',':
		h.pos++
		return true
	case ']':
		h.pos++
		return false
	}
	h.bad = true
	return false
}

func (h *hand) end() error {
	h.space()
	err := error(nil)
	if h.bad || h.pos != len(h.data) {
		err = errHand
	}
	h.data = nil
	hands.Put(h)
	return err
}

func begin(data []byte) *hand {
	h, _ := hands.Get().(*hand)
	h.data, h.pos, h.bad = data, 0, false
	return h
}

func handSmall(data []byte) (city string, days int, unit string, err error) {
	h := begin(data)
	var bits uint32
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		switch string(key) {
		case "city":
			h.seen(&bits, 1)
			city = h.str()
		case "days":
			h.seen(&bits, 2)
			days = int(h.integer())
		case "unit":
			h.seen(&bits, 4)
			unit = h.str()
		default:
			h.bad = true
		}
	}
	h.bad = h.bad || bits != 7
	return city, days, unit, h.end()
}

func (h *hand) address(a *fixture.Address) {
	var bits uint32
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		switch string(key) {
		case "street":
			h.seen(&bits, 1)
			a.Street = h.str()
		case "city":
			h.seen(&bits, 2)
			a.City = h.str()
		case "zip":
			h.seen(&bits, 4)
			a.Zip = h.str()
		default:
			h.bad = true
		}
	}
	h.bad = h.bad || bits != 7
}

func (h *hand) line(l *fixture.Line) {
	var bits uint32
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		switch string(key) {
		case "sku":
			h.seen(&bits, 1)
			l.SKU = h.str()
		case "quantity":
			h.seen(&bits, 2)
			v := h.integer()
			h.bad = h.bad || v < math.MinInt32 || v > math.MaxInt32
			l.Quantity = int32(v)
		case "price":
			h.seen(&bits, 4)
			l.Price = h.float()
		case "tags":
			h.seen(&bits, 8)
			if h.null() {
				continue
			}
			l.Tags = make([]string, 0, 4)
			for start := true; h.element(&start); {
				l.Tags = append(l.Tags, h.str())
			}
		default:
			h.bad = true
		}
	}
	h.bad = h.bad || bits&7 != 7
}

func (h *hand) order(o *fixture.Order) {
	var bits uint32
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		switch string(key) {
		case "id":
			h.seen(&bits, 1)
			o.ID = h.str()
		case "customer":
			h.seen(&bits, 2)
			o.Customer = h.integer()
		case "priority":
			h.seen(&bits, 4)
			switch b := h.raw(); string(b) {
			case "low":
				o.Priority = fixture.Low
			case "normal":
				o.Priority = fixture.Normal
			case "high":
				o.Priority = fixture.High
			default:
				h.bad = true
			}
		case "placed":
			h.seen(&bits, 8)
			h.bad = o.Placed.UnmarshalText(h.raw()) != nil || h.bad
		case "ship":
			h.seen(&bits, 16)
			h.address(&o.Ship)
		case "bill":
			h.seen(&bits, 32)
			if !h.null() {
				o.Bill = new(fixture.Address)
				h.address(o.Bill)
			}
		case "lines":
			h.seen(&bits, 64)
			o.Lines = make([]fixture.Line, 0, 4)
			for start := true; h.element(&start); {
				o.Lines = append(o.Lines, fixture.Line{})
				h.line(&o.Lines[len(o.Lines)-1])
			}
		case "meta":
			h.seen(&bits, 128)
			if !h.null() {
				h.meta(o)
			}
		case "note":
			h.seen(&bits, 256)
			if !h.null() {
				s := h.str()
				o.Note = &s
			}
		default:
			h.bad = true
		}
	}
	const required = 1 | 2 | 4 | 8 | 16 | 64
	h.bad = h.bad || bits&required != required
}

func (h *hand) meta(o *fixture.Order) {
	o.Meta = make(map[string]string)
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		name := string(key)
		if _, twice := o.Meta[name]; twice {
			h.bad = true
		}
		o.Meta[name] = h.str()
	}
}

func handMedium(data []byte) (order fixture.Order, err error) {
	h := begin(data)
	var bits uint32
	first := true
	for key := h.next(&first); key != nil; key = h.next(&first) {
		if string(key) != "order" {
			h.bad = true
			break
		}
		h.seen(&bits, 1)
		h.order(&order)
	}
	h.bad = h.bad || bits != 1
	return order, h.end()
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// handWeather and handReceipt write the results as hand-written code would:
// into a pooled buffer, copied out once.
func handWeather(v fixture.Weather) *runtime.Result {
	p, _ := buffers.Get().(*[]byte)
	b := append((*p)[:0], `{"celsius":`...)
	b = strconv.AppendFloat(b, v.Celsius, 'f', -1, 64)
	b = append(b, `,"windy":`...)
	b = append(strconv.AppendBool(b, v.Windy), '}')
	return handResult(p, b)
}

func handReceipt(v *fixture.Receipt) *runtime.Result {
	p, _ := buffers.Get().(*[]byte)
	b := strconv.AppendQuote(append((*p)[:0], `{"id":`...), v.ID)
	b = strconv.AppendFloat(append(b, `,"total":`...), v.Total, 'f', -1, 64)
	b = append(strconv.AppendInt(append(b, `,"lines":`...), int64(v.Lines), 10), '}')
	return handResult(p, b)
}

func handResult(p *[]byte, b []byte) *runtime.Result {
	s := &struct {
		result runtime.Result
		bytes  [256]byte
	}{}
	n := copy(s.bytes[:], b)
	s.result.Structured = s.bytes[:n]
	*p = b
	buffers.Put(p)
	return &s.result
}
