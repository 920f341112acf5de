import type { LoopControls } from './loops.ts';

/** An upstream that requests are sent to. */
export interface UpstreamAddress {
  /** `http://host:port` */
  readonly origin: string;
  readonly host: string;
  /** Without a final slash. */
  readonly path: string;
  readonly query: string;
  /** The API named by a `gw://` address; empty for a real upstream. */
  readonly loop: string;
  /** What that address asks of the call besides. */
  readonly controls?: LoopControls;
  /** Spoken to in HTTP/2 without TLS. */
  readonly http2?: boolean;
}
