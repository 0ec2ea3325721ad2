// The slot of a key in a cluster: CRC16 (XMODEM) of its hash tag, or of the whole key if it has none.

export const SLOTS = 16_384

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc & 0xffff
})

export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  // An empty tag is none.
  const isTagged = close > open + 1
  const end = isTagged ? close : key.length
  let crc = 0
  for (let i = isTagged ? open + 1 : 0; i < end; i++) {
    const code = key.charCodeAt(i)
    if (code > 0x7f) return slotOfBytes(Buffer.from(isTagged ? key.slice(open + 1, close) : key))
    crc = next(crc, code)
  }
  return crc % SLOTS
}

function slotOfBytes(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = next(crc, byte)
  return crc % SLOTS
}

function next(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (TABLE[((crc >> 8) ^ byte) & 0xff] ?? 0)
}
