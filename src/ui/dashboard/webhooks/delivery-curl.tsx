import type { ResultOf } from '../../kit/calls.ts';
import { CommandText } from '../../kit/command-text.tsx';
import { toCurl } from '../../kit/curl.ts';
import { hideInBody, hideInUrl, toPlaceholder } from '../../kit/hide-credentials.ts';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.deliveries;
type DeliveryData = ResultOf<'GET /api/deliveries/{deliveryId}'>;

/** Command that sends the body of a delivery again, without its signature. Values of headers are placeholders. */
export function DeliveryCurl({ delivery }: { delivery: DeliveryData }) {
  const [method, url] = delivery.target.split(' ');
  return url ? (
    <Command delivery={delivery} method={method!} url={url} headers={[]} />
  ) : (
    <StoredHookCurl delivery={delivery} />
  );
}

/** Absent for a deleted webhook: where its deliveries went is no longer known. */
function StoredHookCurl({ delivery }: { delivery: DeliveryData }) {
  const hook = useOperation('GET /api/hooks/{hookId}', { params: { hookId: delivery.hook_id } }).data?.value;
  return (
    hook && (
      <Command
        delivery={delivery}
        method={hook.method}
        url={hook.target_path}
        headers={Object.keys(hook.header_map ?? {})}
      />
    )
  );
}

interface CommandProps {
  readonly delivery: DeliveryData;
  readonly method: string;
  readonly url: string;
  /** Names; values may be credentials. */
  readonly headers: readonly string[];
}

function Command({ delivery, method, url, headers }: CommandProps) {
  const { body, content_type: type, id } = delivery;
  const command = toCurl({
    method,
    url: hideInUrl(url),
    headers: {
      ...(body ? { 'Content-Type': type } : {}),
      'X-Gw-Delivery': id,
      ...Object.fromEntries(headers.map(name => [name, toPlaceholder(name)])),
    },
    ...(body ? { text: hideInBody(body) } : {}),
  });
  return (
    <section className="flex flex-col gap-2" aria-label={own.asCurl}>
      <h3>{own.asCurl}</h3>
      <p className="text-small text-dim">{own.asCurlAbout}</p>
      <CommandText command={command} label={own.copyCurl} />
    </section>
  );
}
