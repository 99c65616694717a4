/**
 * Source maps of the package. Types are replaced by spaces, so each position of the JavaScript is the same position
 * of the TypeScript: a map only has to list the positions, and to contain the source.
 *
 * @module
 */

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Returns the map (source map revision 3) of a module whose positions are those of its source.
 * @param name of the source file beside the built module
 */
export function writeIdentityMap(code: string, source: string, name: string): string {
  // One position for each line, its first character: more would double the package.
  let lastLine = 0;
  let lastColumn = 0;
  const mappings = code.split("\n").map((text, line) => {
    const column = text.search(/\S/);
    if (column < 0) return "";
    const segment = [column, 0, line - lastLine, column - lastColumn].map(encode).join("");
    [lastLine, lastColumn] = [line, column];
    return segment;
  }).join(";");
  return JSON.stringify({ version: 3, sources: [name], sourcesContent: [source], names: [], mappings });
}

/** The mappings of a map with one position for each line, its first. */
export function keepFirstOfLines(mappings: string): string {
  // Numbers are differences to the position before: those of a line from its start, the others from any line.
  const read = [0, 0, 0, 0];
  const written = [0, 0, 0, 0];
  return mappings.split(";").map((line) => {
    read[0] = written[0] = 0;
    let first = "";
    for (const segment of line === "" ? [] : line.split(",")) {
      decode(segment).slice(0, 4).forEach((difference, i) => read[i]! += difference);
      if (first !== "" || segment.length < 4) continue;
      first = read.map((number, i) => encode(number - written[i]!)).join("");
      written.splice(0, 4, ...read);
    }
    return first;
  }).join(";");
}

/** The numbers of a segment. */
function decode(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = BASE64.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return numbers;
}

/** A number as Base64 VLQ: five bits for each character, the lowest bit of the number is its sign. */
function encode(value: number): string {
  let rest = value < 0 ? -value << 1 | 1 : value << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += BASE64[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
