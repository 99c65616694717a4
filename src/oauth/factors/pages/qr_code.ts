/**
 * QR codes as SVG, without script. `uqr` computes them: it is small, has no dependencies and runs everywhere.
 *
 * @module
 */
import { encode } from "uqr";

/** Modules around the code (ISO/IEC 18004 section 6.3.8). */
const QUIET_ZONE = 4;

/** The dark modules as the `d` of an SVG path, and the width and height in modules. */
export function drawQrCode(text: string): { readonly path: string; readonly size: number } {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  let path = "";
  data.forEach((row, y) => {
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x]) x++;
      path += `M${start} ${y}h${x - start}v1h${start - x}z`;
    }
  });
  return { path, size };
}
