package main

import (
	"crypto/md5"
	"encoding/binary"
	"time"
)

// Version-1 UUIDs count steps of 100 ns from the start of the Gregorian calendar. This is the count in 1970.
const stepsTo1970 = 0x01b21dd213814000

// timeUUID makes the name of what happened at a moment, as a column family of TimeUUIDType sorts it.
//
// Where other UUIDs tell the machine that made them, these carry a hash of text: two events of the same
// moment get two names, and the same event gets the same name however often it is written.
func timeUUID(moment time.Time, text string) []byte {
	steps := uint64(moment.UnixMilli())*10_000 + stepsTo1970
	hash := md5.Sum([]byte(text))
	uuid := make([]byte, 0, 16)
	uuid = binary.BigEndian.AppendUint32(uuid, uint32(steps))
	uuid = binary.BigEndian.AppendUint16(uuid, uint16(steps>>32))
	uuid = binary.BigEndian.AppendUint16(uuid, 0x1000|uint16(steps>>48)&0x0fff)
	uuid = append(uuid, 0x80|hash[8]&0x3f)
	return append(uuid, hash[9:]...)
}
