import { test } from "uvu";
import { TRIVET } from "../peers.ts";
import { PeerProcess, type Tokens } from "./peer_process.ts";

// An option that is refused would otherwise show only in a bench.
test("the server of the bench answers each request that is measured", async () => {
  const server = await PeerProcess.start(TRIVET);
  try {
    const { access_token }: Tokens = JSON.parse(await server.clientCredentials());
    await server.introspect(access_token);
    await server.signIn();
    const { refresh_token } = await server.exchange(await server.authorize());
    await server.refresh(refresh_token);
  } finally {
    server.stop();
  }
});

test.run();
