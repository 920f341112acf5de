import { texts } from '../../texts/texts.ts';
import { decodeRecorded } from './decode-recorded.ts';
import type { TailedRequest } from './log-filters.ts';

const own = texts.logs;

/** Request and response as recorded, as text. */
export function RecordedMessages({ call: { raw_request, raw_response } }: { call: TailedRequest }) {
  if (raw_request === undefined) return <p className="text-dim">{own.notStreamed}</p>;
  if (!raw_request && !raw_response) return <p className="text-dim">{own.notRecorded}</p>;
  return (
    <>
      <Message title={own.rawRequest} encoded={raw_request} />
      <Message title={own.rawResponse} encoded={raw_response ?? ''} />
    </>
  );
}

const Message = ({ title, encoded }: { title: string; encoded: string }) =>
  encoded && (
    <section aria-label={title} className="flex flex-col gap-1.5">
      <h3 className="text-body">{title}</h3>
      <pre className="rounded-card border border-line bg-page p-3 text-small">
        <code className="font-mono break-all whitespace-pre-wrap">{decodeRecorded(encoded)}</code>
      </pre>
    </section>
  );
