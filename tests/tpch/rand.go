package tpch

// A stream is a Lehmer generator with the draws left in the present row.
type stream struct {
	seed     int64
	used     int64
	boundary int64 // draws a row
}

const (
	modulus    = 1<<31 - 1
	multiplier = 16807
)

// between draws a number from lo to hi.
func (s *stream) between(lo, hi int64) int64 { return lo + s.draw(float64(hi-lo+1)) }

// draw draws a number below width.
func (s *stream) draw(width float64) int64 {
	s.used++
	s.seed = s.seed * multiplier % modulus
	return int64(float64(s.seed) / modulus * width)
}

// endRow takes the draws that the row left over.
func (s *stream) endRow() {
	s.skip(s.boundary - s.used)
	s.used = 0
}

// skip takes n draws.
func (s *stream) skip(n int64) {
	mult, z := int64(multiplier), s.seed
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			z = mult * z % modulus
		}
		mult = mult * mult % modulus
	}
	s.seed = z
}

func newStream(seed, boundary int64) stream { return stream{seed: seed, boundary: boundary} }

// The most lines of an order, and the suppliers of a part.
const (
	maxLines     = 7
	suppsPerPart = 4
)

// streams are the random streams of all tables, one a column.
type streams struct {
	pMfgr, pBrand, pType, pSize, pContainer, pComment, pName stream
	psQty, psCost, psComment                                 stream
	oSupp, oClerk, oComment, oDate, oPriority, oCust, oLines stream
	lQty, lDiscount, lTax, lInstruct, lMode, lPart, lSupp    stream
	lShip, lCommit, lReceipt, lFlag, lComment                stream
	cAddress, cNation, cPhone, cBalance, cSegment, cComment  stream
	sAddress, sNation, sPhone, sBalance, sComment            stream
	sPressNoise, sPressKind, sPress, sPressOffset            stream
	nComment, rComment                                       stream
}

func newStreams() *streams {
	return &streams{
		pMfgr: newStream(1, 1), pBrand: newStream(46831694, 1), pType: newStream(1841581359, 1),
		pSize: newStream(1193163244, 1), pContainer: newStream(727633698, 1),
		pComment: newStream(804159733, 2), pName: newStream(709314158, 92),

		psQty: newStream(1671059989, suppsPerPart), psCost: newStream(1051288424, suppsPerPart),
		psComment: newStream(1961692154, 2*suppsPerPart),

		oSupp: newStream(1227283347, 1), oClerk: newStream(1171034773, 1), oComment: newStream(276090261, 2),
		oDate: newStream(1066728069, 1), oPriority: newStream(591449447, 1), oCust: newStream(851767375, 1),
		oLines: newStream(1434868289, 1),

		lQty: newStream(209208115, maxLines), lDiscount: newStream(554590007, maxLines),
		lTax: newStream(721958466, maxLines), lInstruct: newStream(1371272478, maxLines),
		lMode: newStream(675466456, maxLines), lPart: newStream(1808217256, maxLines),
		lSupp: newStream(2095021727, maxLines), lShip: newStream(1769349045, maxLines),
		lCommit: newStream(904914315, maxLines), lReceipt: newStream(373135028, maxLines),
		lFlag: newStream(717419739, maxLines), lComment: newStream(1095462486, 2*maxLines),

		cAddress: newStream(881155353, 9), cNation: newStream(1489529863, 1), cPhone: newStream(1521138112, 3),
		cBalance: newStream(298370230, 1), cSegment: newStream(1140279430, 1), cComment: newStream(1335826707, 2),

		sAddress: newStream(706178559, 9), sNation: newStream(110356601, 1), sPhone: newStream(884434366, 3),
		sBalance: newStream(962338209, 1), sComment: newStream(1341315363, 2),
		sPressNoise: newStream(263032577, 1), sPressKind: newStream(753643799, 1),
		sPress: newStream(202794285, 1), sPressOffset: newStream(715851524, 1),

		nComment: newStream(606179079, 2), rComment: newStream(1500869201, 2),
	}
}
