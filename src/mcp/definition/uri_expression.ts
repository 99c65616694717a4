/**
 * The parts of a URI template (https://www.rfc-editor.org/rfc/rfc6570#section-2).
 *
 * @module
 */

export interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Characters that end a value when reading. */
  readonly stops: string;
  /** Values stand as `name=value`. */
  readonly named?: boolean;
  /** Reserved characters and `%41` in values stay as they are. */
  readonly reserved?: boolean;
}

// RFC 6570, appendix A.
const OPERATORS: Readonly<Record<string, Operator>> = {
  "": { first: "", separator: ",", stops: "/?#" },
  "+": { first: "", separator: ",", stops: "", reserved: true },
  "#": { first: "#", separator: ",", stops: "", reserved: true },
  ".": { first: ".", separator: ".", stops: "/?#" },
  "/": { first: "/", separator: "/", stops: "/?#" },
  ";": { first: ";", separator: ";", stops: "/?#", named: true },
  "?": { first: "?", separator: "&", stops: "#", named: true },
  "&": { first: "&", separator: "&", stops: "#", named: true },
};

export interface Variable {
  readonly name: string;
  readonly explode: boolean;
  /** The most characters of the value, or 0 for all. */
  readonly prefix: number;
}

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/**
 * Text that stands in the URI as it is, and expressions, in turn.
 * @throws {TypeError} naming the part that cannot be read
 */
export function parse(template: string): (string | Expression)[] {
  const refuse = (part: string, rule: string): TypeError =>
    new TypeError(`Invalid URI template "${template}": "${part}" ${rule}`);
  return template.split(/(\{[^{}]*\})/).filter(Boolean).map((part) => {
    if (!part.startsWith("{") || !part.endsWith("}")) {
      // RFC 6570 section 2.1, with the apostrophe (erratum 6937).
      const bad = /%(?![\dA-Fa-f]{2})|[^!#-;=?-[\]_a-z~\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/u.exec(part);
      if (bad) throw refuse(bad[0], "is not allowed outside an expression");
      return encodeReserved(part);
    }
    const operator = /^[+#./;?&]?/.exec(part.slice(1))![0];
    const variables = part.slice(1 + operator.length, -1).split(",").map((spec) => {
      const found = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(?::([1-9]\d{0,3})|(\*))?$/.exec(
        spec,
      );
      if (!found) {
        throw refuse(
          part,
          "must be a list of name, name:3 or name* in braces, after an optional operator of +#./;?&",
        );
      }
      return { name: found[1]!, explode: found[3] !== undefined, prefix: Number(found[2] ?? 0) };
    });
    return { operator: OPERATORS[operator]!, variables };
  });
}

/** Percent-encodes all but reserved characters and what is percent-encoded already. */
export function encodeReserved(text: string): string {
  return encodeURI(text).replace(/%5B|%5D|%25(?=[\dA-Fa-f]{2})/g, decodeURIComponent);
}
