package parser

import (
	"slices"
	"strings"
)

// keyword is a word that the grammar knows. A word that is not reserved is a
// name everywhere else.
type keyword uint8

// The keywords, in the order of their text.
const (
	kwNone keyword = iota
	kwAbort
	kwAction
	kwAdd
	kwAll
	kwAlter
	kwAlways
	kwAnalyze
	kwAnd
	kwAny
	kwArray
	kwAs
	kwAsc
	kwAt
	kwAutoIncrement
	kwAutoincrement
	kwBegin
	kwBetween
	kwBoth
	kwBy
	kwCascade
	kwCase
	kwCast
	kwCheck
	kwCheckpoint
	kwCollate
	kwColumn
	kwCommit
	kwConcurrently
	kwConflict
	kwConstraint
	kwCopy
	kwCreate
	kwCross
	kwCube
	kwCurrent
	kwCurrentDate
	kwCurrentTime
	kwCurrentTimestamp
	kwCurrentUser
	kwData
	kwDeallocate
	kwDefault
	kwDelete
	kwDesc
	kwDescribe
	kwDistinct
	kwDo
	kwDrop
	kwDuplicate
	kwElse
	kwEnd
	kwEscape
	kwExcept
	kwExclude
	kwExecute
	kwExists
	kwExplain
	kwExtract
	kwFalse
	kwFetch
	kwFilter
	kwFirst
	kwFollowing
	kwFor
	kwForeign
	kwFrom
	kwFull
	kwGenerated
	kwGlob
	kwGroup
	kwGrouping
	kwGroups
	kwHaving
	kwIf
	kwIgnore
	kwIlike
	kwIn
	kwInclude
	kwIndex
	kwIndexed
	kwInner
	kwInsert
	kwIntersect
	kwInterval
	kwInto
	kwIs
	kwIsnull
	kwIsolation
	kwJoin
	kwKey
	kwLast
	kwLateral
	kwLeading
	kwLeft
	kwLevel
	kwLike
	kwLimit
	kwLocaltime
	kwLocaltimestamp
	kwMaterialized
	kwNatural
	kwNext
	kwNo
	kwNot
	kwNothing
	kwNotnull
	kwNull
	kwNulls
	kwOffset
	kwOn
	kwOnly
	kwOr
	kwOrder
	kwOthers
	kwOuter
	kwOver
	kwOverlay
	kwPartition
	kwPlacing
	kwPosition
	kwPreceding
	kwPrecision
	kwPrepare
	kwPrimary
	kwQualify
	kwRange
	kwRead
	kwRecursive
	kwReferences
	kwReindex
	kwRelease
	kwRename
	kwReplace
	kwReset
	kwRespect
	kwRestrict
	kwReturning
	kwRight
	kwRollback
	kwRollup
	kwRow
	kwRows
	kwSavepoint
	kwSchema
	kwSelect
	kwSessionUser
	kwSet
	kwSets
	kwShow
	kwSimilar
	kwSome
	kwStart
	kwStored
	kwSubstring
	kwSymmetric
	kwTable
	kwTablesample
	kwTemp
	kwTemporary
	kwThen
	kwTies
	kwTime
	kwTo
	kwTrailing
	kwTransaction
	kwTrim
	kwTrue
	kwTruncate
	kwTryCast
	kwType
	kwUnbounded
	kwUnion
	kwUnique
	kwUnknown
	kwUpdate
	kwUsing
	kwVacuum
	kwValues
	kwVarying
	kwView
	kwVirtual
	kwWhen
	kwWhere
	kwWindow
	kwWith
	kwWithin
	kwWithout
	kwWork
	kwWrite
	kwZone
	numKeywords
)

// wordUse says where a keyword cannot be a plain name.
type wordUse uint8

const (
	anyName  wordUse = iota
	noAlias          // a name, but not an alias without AS
	reserved         // only a label after AS, or quoted
)

var keywordInfo = [numKeywords]struct {
	text string
	use  wordUse
}{
	kwAbort:            {"abort", anyName},
	kwAction:           {"action", anyName},
	kwAdd:              {"add", anyName},
	kwAll:              {"all", reserved},
	kwAlter:            {"alter", anyName},
	kwAlways:           {"always", anyName},
	kwAnalyze:          {"analyze", anyName},
	kwAnd:              {"and", reserved},
	kwAny:              {"any", reserved},
	kwArray:            {"array", reserved},
	kwAs:               {"as", reserved},
	kwAsc:              {"asc", reserved},
	kwAt:               {"at", anyName},
	kwAutoIncrement:    {"auto_increment", anyName},
	kwAutoincrement:    {"autoincrement", anyName},
	kwBegin:            {"begin", anyName},
	kwBetween:          {"between", noAlias},
	kwBoth:             {"both", reserved},
	kwBy:               {"by", anyName},
	kwCascade:          {"cascade", anyName},
	kwCase:             {"case", reserved},
	kwCast:             {"cast", reserved},
	kwCheck:            {"check", reserved},
	kwCheckpoint:       {"checkpoint", anyName},
	kwCollate:          {"collate", reserved},
	kwColumn:           {"column", reserved},
	kwCommit:           {"commit", anyName},
	kwConcurrently:     {"concurrently", anyName},
	kwConflict:         {"conflict", anyName},
	kwConstraint:       {"constraint", reserved},
	kwCopy:             {"copy", anyName},
	kwCreate:           {"create", reserved},
	kwCross:            {"cross", reserved},
	kwCube:             {"cube", anyName},
	kwCurrent:          {"current", anyName},
	kwCurrentDate:      {"current_date", anyName},
	kwCurrentTime:      {"current_time", anyName},
	kwCurrentTimestamp: {"current_timestamp", anyName},
	kwCurrentUser:      {"current_user", anyName},
	kwData:             {"data", anyName},
	kwDeallocate:       {"deallocate", anyName},
	kwDefault:          {"default", reserved},
	kwDelete:           {"delete", anyName},
	kwDesc:             {"desc", reserved},
	kwDescribe:         {"describe", anyName},
	kwDistinct:         {"distinct", reserved},
	kwDo:               {"do", anyName},
	kwDrop:             {"drop", anyName},
	kwDuplicate:        {"duplicate", anyName},
	kwElse:             {"else", reserved},
	kwEnd:              {"end", reserved},
	kwEscape:           {"escape", anyName},
	kwExcept:           {"except", reserved},
	kwExclude:          {"exclude", anyName},
	kwExecute:          {"execute", anyName},
	kwExists:           {"exists", anyName},
	kwExplain:          {"explain", anyName},
	kwExtract:          {"extract", anyName},
	kwFalse:            {"false", reserved},
	kwFetch:            {"fetch", reserved},
	kwFilter:           {"filter", anyName},
	kwFirst:            {"first", anyName},
	kwFollowing:        {"following", anyName},
	kwFor:              {"for", reserved},
	kwForeign:          {"foreign", reserved},
	kwFrom:             {"from", reserved},
	kwFull:             {"full", reserved},
	kwGenerated:        {"generated", anyName},
	kwGlob:             {"glob", noAlias},
	kwGroup:            {"group", reserved},
	kwGrouping:         {"grouping", anyName},
	kwGroups:           {"groups", anyName},
	kwHaving:           {"having", reserved},
	kwIf:               {"if", anyName},
	kwIgnore:           {"ignore", anyName},
	kwIlike:            {"ilike", reserved},
	kwIn:               {"in", reserved},
	kwInclude:          {"include", anyName},
	kwIndex:            {"index", anyName},
	kwIndexed:          {"indexed", anyName},
	kwInner:            {"inner", reserved},
	kwInsert:           {"insert", anyName},
	kwIntersect:        {"intersect", reserved},
	kwInterval:         {"interval", anyName},
	kwInto:             {"into", reserved},
	kwIs:               {"is", reserved},
	kwIsnull:           {"isnull", reserved},
	kwIsolation:        {"isolation", anyName},
	kwJoin:             {"join", reserved},
	kwKey:              {"key", anyName},
	kwLast:             {"last", anyName},
	kwLateral:          {"lateral", reserved},
	kwLeading:          {"leading", reserved},
	kwLeft:             {"left", reserved},
	kwLevel:            {"level", anyName},
	kwLike:             {"like", reserved},
	kwLimit:            {"limit", reserved},
	kwLocaltime:        {"localtime", anyName},
	kwLocaltimestamp:   {"localtimestamp", anyName},
	kwMaterialized:     {"materialized", anyName},
	kwNatural:          {"natural", reserved},
	kwNext:             {"next", anyName},
	kwNo:               {"no", anyName},
	kwNot:              {"not", reserved},
	kwNothing:          {"nothing", anyName},
	kwNotnull:          {"notnull", reserved},
	kwNull:             {"null", reserved},
	kwNulls:            {"nulls", anyName},
	kwOffset:           {"offset", reserved},
	kwOn:               {"on", reserved},
	kwOnly:             {"only", anyName},
	kwOr:               {"or", reserved},
	kwOrder:            {"order", reserved},
	kwOthers:           {"others", anyName},
	kwOuter:            {"outer", reserved},
	kwOver:             {"over", anyName},
	kwOverlay:          {"overlay", anyName},
	kwPartition:        {"partition", anyName},
	kwPlacing:          {"placing", anyName},
	kwPosition:         {"position", anyName},
	kwPreceding:        {"preceding", anyName},
	kwPrecision:        {"precision", anyName},
	kwPrepare:          {"prepare", anyName},
	kwPrimary:          {"primary", reserved},
	kwQualify:          {"qualify", reserved},
	kwRange:            {"range", anyName},
	kwRead:             {"read", anyName},
	kwRecursive:        {"recursive", anyName},
	kwReferences:       {"references", reserved},
	kwReindex:          {"reindex", anyName},
	kwRelease:          {"release", anyName},
	kwRename:           {"rename", anyName},
	kwReplace:          {"replace", anyName},
	kwReset:            {"reset", anyName},
	kwRespect:          {"respect", anyName},
	kwRestrict:         {"restrict", anyName},
	kwReturning:        {"returning", reserved},
	kwRight:            {"right", reserved},
	kwRollback:         {"rollback", anyName},
	kwRollup:           {"rollup", anyName},
	kwRow:              {"row", anyName},
	kwRows:             {"rows", anyName},
	kwSavepoint:        {"savepoint", anyName},
	kwSchema:           {"schema", anyName},
	kwSelect:           {"select", reserved},
	kwSessionUser:      {"session_user", anyName},
	kwSet:              {"set", noAlias},
	kwSets:             {"sets", anyName},
	kwShow:             {"show", anyName},
	kwSimilar:          {"similar", reserved},
	kwSome:             {"some", reserved},
	kwStart:            {"start", anyName},
	kwStored:           {"stored", anyName},
	kwSubstring:        {"substring", anyName},
	kwSymmetric:        {"symmetric", anyName},
	kwTable:            {"table", reserved},
	kwTablesample:      {"tablesample", noAlias},
	kwTemp:             {"temp", anyName},
	kwTemporary:        {"temporary", anyName},
	kwThen:             {"then", reserved},
	kwTies:             {"ties", anyName},
	kwTime:             {"time", anyName},
	kwTo:               {"to", reserved},
	kwTrailing:         {"trailing", reserved},
	kwTransaction:      {"transaction", anyName},
	kwTrim:             {"trim", anyName},
	kwTrue:             {"true", reserved},
	kwTruncate:         {"truncate", anyName},
	kwTryCast:          {"try_cast", anyName},
	kwType:             {"type", anyName},
	kwUnbounded:        {"unbounded", anyName},
	kwUnion:            {"union", reserved},
	kwUnique:           {"unique", reserved},
	kwUnknown:          {"unknown", anyName},
	kwUpdate:           {"update", anyName},
	kwUsing:            {"using", reserved},
	kwVacuum:           {"vacuum", anyName},
	kwValues:           {"values", anyName},
	kwVarying:          {"varying", anyName},
	kwView:             {"view", anyName},
	kwVirtual:          {"virtual", anyName},
	kwWhen:             {"when", reserved},
	kwWhere:            {"where", reserved},
	kwWindow:           {"window", reserved},
	kwWith:             {"with", reserved},
	kwWithin:           {"within", anyName},
	kwWithout:          {"without", anyName},
	kwWork:             {"work", anyName},
	kwWrite:            {"write", anyName},
	kwZone:             {"zone", anyName},
}

// namesFunction reports a reserved word that is a function's name when a
// parenthesis follows it.
func (k keyword) namesFunction() bool {
	return k == kwLeft || k == kwRight || k == kwLike || k == kwIlike || k == kwCollate
}

func (k keyword) String() string { return strings.ToUpper(keywordInfo[k].text) }

// Keywords are the words of the language, upper case, sorted.
func Keywords() []string {
	words := make([]string, 0, numKeywords)
	for k := kwNone + 1; k < numKeywords; k++ {
		words = append(words, k.String())
	}
	slices.Sort(words)
	return words
}

// keywordTable finds keywords by hash: open addressing over four times as many
// places as there are words, so that a plain name nearly always meets an empty
// place first.
type keywordTable [1024]keyword

// keywordFactor makes the hash: h*factor + letter, letters folded.
const keywordFactor = 0x9E3779B1

// keywordHome is where the search for a hash begins: its top ten bits.
func keywordHome(h uint32) uint32 { return h * keywordFactor >> 22 }

var keywords = func() (t keywordTable) {
	for k := kwNone + 1; k < numKeywords; k++ {
		h := uint32(0)
		for _, c := range []byte(keywordInfo[k].text) {
			h = h*keywordFactor + uint32(c|0x20)
		}
		i := keywordHome(h)
		for t[i] != kwNone {
			i = (i + 1) % uint32(len(t))
		}
		t[i] = k
	}
	return t
}()

// find is the keyword that a word is, or kwNone; h is the hash of its folded
// letters.
func (t *keywordTable) find(word string, h uint32) keyword {
	for i := keywordHome(h); ; i = (i + 1) % uint32(len(t)) {
		k := t[i]
		if k == kwNone || sameWord(word, keywordInfo[k].text) {
			return k
		}
	}
}

// sameWord compares two words without regard to case. Setting one bit folds
// letters and leaves digits; no other byte of a name meets them that way.
func sameWord(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i]|0x20 != b[i]|0x20 {
			return false
		}
	}
	return true
}

// keywordOf is the keyword that a folded name is.
func keywordOf(name string) keyword {
	h := uint32(0)
	for i := 0; i < len(name); i++ {
		h = h*keywordFactor + uint32(name[i]|0x20)
	}
	return keywords.find(name, h)
}
