/**
 * The capabilities of a client as a session id has them: those that the server uses, each by a letter, as the id is sent with
 * every request.
 *
 * @module
 */
type Capabilities = Readonly<Record<string, unknown>>;
/** Name, letter and parts. No two letters are the same. */
type Capability = readonly [name: string, letter: string, parts?: readonly Capability[]];
const KNOWN_CAPABILITIES: readonly Capability[] = [
  ["elicitation", "e", [["form", "f"], ["url", "u"]]],
  ["sampling", "s", [["tools", "t"], ["context", "c"]]],
  ["roots", "r"],
];

/** The letters of the capabilities that are there. */
export function encodeCapabilities(
  given: Capabilities,
  known: readonly Capability[] = KNOWN_CAPABILITIES,
): string {
  let code = "";
  for (const [name, letter, parts = []] of known) {
    const inner = given[name];
    if (typeof inner === "object" && inner !== null) {
      code += letter + encodeCapabilities(inner as Capabilities, parts);
    }
  }
  return code;
}

/** The capabilities that the letters stand for. */
export function decodeCapabilities(
  code: string,
  known: readonly Capability[] = KNOWN_CAPABILITIES,
): Capabilities {
  const capabilities: Record<string, unknown> = {};
  for (const [name, letter, parts = []] of known) {
    if (code.includes(letter)) capabilities[name] = decodeCapabilities(code, parts);
  }
  return capabilities;
}
