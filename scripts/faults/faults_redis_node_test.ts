import { redisStore } from "../../src/store/redis.ts";
import { testFaults } from "./faults.ts";

testFaults("redis", {
  open: (address, now) => redisStore(address, now ? { now } : {}),
  isCommit: (sent) => sent.includes("EVALSHA") && sent.includes("}:version"),
  smallPool: "",
});
