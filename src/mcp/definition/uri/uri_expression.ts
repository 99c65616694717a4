/**
 * Parses URI templates (https://www.rfc-editor.org/rfc/rfc6570#section-2).
 *
 * @module
 */

export interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Characters that end a value when a URI is matched. */
  readonly stops: string;
  /** Whether values are written as `name=value`. */
  readonly named?: boolean;
}

// RFC 6570, appendix A.
const OPERATORS: Readonly<Record<string, Operator>> = {
  "": { first: "", separator: ",", stops: "/?#" },
  "+": { first: "", separator: ",", stops: "" },
  "#": { first: "#", separator: ",", stops: "" },
  ".": { first: ".", separator: ".", stops: "/?#" },
  "/": { first: "/", separator: "/", stops: "/?#" },
  ";": { first: ";", separator: ";", stops: "/?#", named: true },
  "?": { first: "?", separator: "&", stops: "#", named: true },
  "&": { first: "&", separator: "&", stops: "#", named: true },
};

export interface Variable {
  readonly name: string;
  readonly explode: boolean;
  /** The maximum number of characters of the value; 0 for no maximum. */
  readonly prefix: number;
}

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/**
 * The literals and expressions of a template, in order.
 * @throws {TypeError} naming the invalid part
 */
export function parseUriTemplate(template: string): (string | Expression)[] {
  const invalid = (part: string, rule: string): TypeError =>
    new TypeError(`Invalid URI template "${template}": "${part}" ${rule}`);
  return template.split(/(\{[^{}]*\})/).filter(Boolean).map((part) => {
    if (!part.startsWith("{") || !part.endsWith("}")) {
      // RFC 6570 section 2.1, with the apostrophe (erratum 6937).
      const bad = /%(?![\dA-Fa-f]{2})|[^!#-;=?-[\]_a-z~\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/u.exec(part);
      if (bad) throw invalid(bad[0], "is not allowed outside an expression");
      return encodeReserved(part);
    }
    const operator = /^[+#./;?&]?/.exec(part.slice(1))![0];
    const variables = part.slice(1 + operator.length, -1).split(",").map((spec) => {
      const found = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(?::([1-9]\d{0,3})|(\*))?$/.exec(
        spec,
      );
      if (!found) {
        throw invalid(
          part,
          "must be a list of name, name:3 or name* in braces, after an optional operator of +#./;?&",
        );
      }
      return { name: found[1]!, explode: found[3] !== undefined, prefix: Number(found[2] ?? 0) };
    });
    return { operator: OPERATORS[operator]!, variables };
  });
}

/**
 * The names of a template's variables, each once, in the order of their first use.
 * @throws {TypeError} naming the invalid part of the template
 */
export function variableNames(template: string): readonly string[] {
  const names = parseUriTemplate(template).flatMap((part) =>
    typeof part === "string" ? [] : part.variables.map(({ name }) => name)
  );
  return [...new Set(names)];
}

/** Percent-encodes all characters except unreserved and reserved ones; what is percent-encoded stays as it is. */
export function encodeReserved(text: string): string {
  return encodeURI(text).replace(/%5B|%5D|%25(?=[\dA-Fa-f]{2})/g, decodeURIComponent);
}
