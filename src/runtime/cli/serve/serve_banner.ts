/**
 * What `trivet serve` prints for people once it runs.
 *
 * @module
 */
import type { Demo } from "./demo.ts";
import { printLine } from "../output.ts";

/** @param tokenForTools whether the tool server wants a token */
export function printBanner(
  issuer: string,
  skills: string,
  models: string,
  tools: string,
  demo: Demo | undefined,
  created: boolean,
  tokenForTools: boolean,
): void {
  const id = demo?.client.id ?? "<client id>";
  const secret = demo?.client.secret ?? "<client secret>";
  const key = demo?.api_key ?? "<api key>";
  const bearer = tokenForTools ? " -H 'authorization: Bearer <access token>'" : "";
  printLine(`
Trivet runs at ${issuer}
  permission  ${issuer}/oauth/authorize, /oauth/token, /api/user
  know-how    ${issuer}/v1/skills       local skills: ${skills}
              ${issuer}/v1/messages     ${models}
  tools       ${issuer}${tools}
${demo === undefined ? "" : `\n${describeDemo(demo, created)}\n`}
Try, in another terminal:
  curl -s ${issuer}/oauth/token -d grant_type=client_credentials -d 'client_id=${id}' -d 'client_secret=${secret}'
  curl -s ${issuer}/v1/skills -H 'x-api-key: ${key}'
  curl -s ${issuer}/mcp -H 'content-type: application/json'${bearer} -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_skills"}}'

Press Ctrl+C to stop.`);
}

function describeDemo({ client, user, api_key }: Demo, created: boolean): string {
  if (api_key === null) {
    return "The demo's secrets were shown at the first start; trivet serve --show-secrets shows them again.";
  }
  return `${
    created
      ? "Made for this first start (shown once; trivet serve --show-secrets shows them again):"
      : "The demo of this data folder:"
  }
  client   ${client.id}   secret ${client.secret}
  user     ${user.username}   password ${user.password}
  api key  ${api_key}`;
}
