/**
 * Parameters of a `gw://` URL that control the internal redirect and are not forwarded. Of the query only what the URL
 * contains is kept; the query of the client is dropped.
 */
export interface LoopControls {
  readonly query: string;
  /** Empty: the method of the request. */
  readonly method: string;
  /** 0: the default limit of the gateway. */
  readonly limit: number;
  readonly checksLimits: boolean;
}

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
  /** Loop controls in the query of that address. */
  readonly controls?: LoopControls;
  /** HTTP/2 without TLS. */
  readonly http2?: boolean;
}
