/**
 * Follows the file of `--mcp-servers` while the server runs: servers that are added, changed or removed there.
 *
 * @module
 */
import type { Gateway } from "../../../gateway/option.ts";
import type { McpServer, McpServers } from "../../../gateway/upstream/configuration/configuration.ts";
import { watchFiles } from "../serve/watch_files.ts";
import { type CommandGateway, readGatewayFile } from "./gateway_file.ts";

/**
 * Follows the file. A file that cannot be used changes nothing.
 * @param report gets a line for people about each change and each problem
 * @returns the function that stops it
 */
export function followGatewayFile(
  { file }: CommandGateway,
  gateway: Pick<Gateway, "add" | "remove">,
  report: (message: string) => void,
): () => void {
  if (!file) return () => {};
  const { path, watched, content: { policy, hold, mcpServers } } = file;
  /** What the gateway has: each change is kept as done, since one that follows may fail. */
  const current: Record<string, McpServer> = { ...mcpServers };
  return watchFiles(watched, async () => {
    try {
      const next = readGatewayFile(path);
      const { added, removed } = compare(current, next.mcpServers);
      // First, since one that is added may have the prefix of one that is removed.
      for (const name of removed) {
        await gateway.remove(name);
        delete current[name];
      }
      for (const name of added) {
        gateway.add(name, next.mcpServers[name]!);
        current[name] = next.mcpServers[name]!;
      }
      const isSame = JSON.stringify([policy, hold]) === JSON.stringify([next.policy, next.hold]);
      if (!isSame) report(`"policy" and "hold" of "${path}" are read at the start only: restart the server`);
      if (added.length + removed.length > 0) {
        report(
          `MCP servers: ${
            [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)].join(" ")
          }`,
        );
      }
    } catch (error) {
      report(
        `${error instanceof Error ? error.message : String(error)}; the previous MCP servers stay in use`,
      );
    }
  });
}

/** Names that are new or changed, and names that are gone. */
export function compare(
  before: McpServers,
  after: McpServers,
): { readonly added: string[]; readonly removed: string[] } {
  const text = (servers: McpServers, name: string): string | undefined =>
    Object.hasOwn(servers, name) ? JSON.stringify(servers[name]) : undefined;
  return {
    added: Object.keys(after).filter((name) => text(before, name) !== text(after, name)),
    removed: Object.keys(before).filter((name) => text(after, name) === undefined),
  };
}
