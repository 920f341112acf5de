import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { toRefusalText } from '../../kit/action-text.ts';
import { StatusPill } from '../../kit/badge.tsx';
import { Button, buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { CommandText } from '../../kit/command-text.tsx';
import { toCurl } from '../../kit/curl.ts';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { unreachableTexts as unreachable } from '../../texts/en/unreachable.ts';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from '../apis/api-outline.ts';
import { ExplainedSteps } from './explained-steps.tsx';

const own = texts.welcome;
type Answer = ResultOf<'POST /api/explain'>;

interface CallStepProps {
  /** URL of the API, with the path of the sample. */
  readonly address: string;
  readonly secret: string | undefined;
  readonly api: ApiOutline;
  onAnswer(): void;
}

/** Sends requests through the gateway, with the key and without it, and shows what each step decided. */
export function CallStep({ address, secret, api, onAnswer }: CallStepProps) {
  const [url, setUrl] = useState(address);
  useEffect(() => setUrl(address), [address]);
  const { mutate, data, error, isPending } = useWrite('POST /api/explain');
  const send = (headers: Record<string, string>) =>
    mutate({ given: { body: { method: 'GET', url, headers } } }, { onSuccess: onAnswer });
  const credential: Record<string, string> = secret === undefined ? {} : { Authorization: secret };
  return (
    <div className="flex flex-col gap-4">
      <TextField label={own.address} isMono value={url} onChange={event => setUrl(event.target.value)} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" isBusy={isPending} onClick={() => send(credential)}>
          {own.send}
        </Button>
        {secret !== undefined && (
          <Button isBusy={isPending} onClick={() => send({})}>
            {own.sendWithoutKey}
          </Button>
        )}
      </div>
      <ErrorText error={error} />
      {data && <Response answer={data.value} api={api} />}
      <details>
        <summary className="w-fit text-small text-dim">{own.asCurl}</summary>
        <div className="mt-2">
          <CommandText command={toCurl({ method: 'GET', url, headers: credential })} label={texts.kit.copy} />
        </div>
      </details>
    </div>
  );
}

const toTone = (status: number) => (status < 400 ? 'success' : status < 500 ? 'warning' : 'danger');
const maxBodyChars = 4000;
/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

function toText(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  if (!text) return own.emptyBody;
  return text.length > maxBodyChars ? `${text.slice(0, maxBodyChars)}…` : text;
}

/** Refusals of a gateway that gets no response of the upstream. */
const unreachableCodes: ReadonlySet<string> = new Set([
  'upstream_address_refused',
  'upstream_dns_failed',
  'upstream_failed',
  'upstream_timeout',
]);

/** Names the upstream, and offers the sample in its place or another address. */
const Unreachable = ({ api: { id: apiId, upstream } }: { api: ApiOutline }) => (
  <section
    aria-label={unreachable.title}
    className="flex flex-col gap-2 rounded-card border border-danger-line bg-danger-soft p-3"
  >
    <p className="font-medium break-all">{unreachable.about(upstream)}</p>
    <div className="flex flex-wrap gap-2">
      <Link to="/welcome" search={{}} className={buttonClass()}>
        {unreachable.sample}
      </Link>
      <Link to="/apis/$apiId/settings" params={{ apiId }} search={{ section: 'upstream' }} className={buttonClass()}>
        {unreachable.change}
      </Link>
    </div>
  </section>
);

function Response({ answer: { status_code, body, explanation }, api }: { answer: Answer; api: ApiOutline }) {
  const refusing = explanation?.steps.find(({ refusal }) => refusal !== undefined);
  const isUnreachable = refusing?.refusal !== undefined && unreachableCodes.has(refusing.refusal);
  return (
    <div role="status" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <StatusPill tone={toTone(status_code)}>{own.status(status_code)}</StatusPill>
        {refusing?.refusal && <span>{own.refusedFor(toRefusalText(refusing.refusal))}</span>}
      </div>
      {isUnreachable && <Unreachable api={api} />}
      <section
        aria-label={own.responseBody}
        {...scrollable}
        className="max-h-60 overflow-auto rounded-control border border-line bg-page p-3"
      >
        <pre className="font-mono text-small break-all whitespace-pre-wrap">{toText(body)}</pre>
      </section>
      <details open={refusing !== undefined}>
        <summary className="w-fit text-small text-dim">{own.explained}</summary>
        <div className="mt-2">
          <ExplainedSteps explanation={explanation} />
        </div>
      </details>
    </div>
  );
}
