/**
 * CRC-32 as zip archives have it (ISO 3309, reflected 0xEDB88320), by a table made at start.
 *
 * @module
 */

const TABLE = new Uint32Array(256).map((_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? value >>> 1 ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ crc >>> 8;
  return ~crc >>> 0;
}
