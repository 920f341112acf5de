import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { Disclosure } from '../../../kit/disclosure.tsx';
import { TimeText } from '../../../kit/time-text.tsx';
import { triedRequestTexts } from '../../../texts/en/tried-requests.ts';
import type { KeptRequest } from './request-history.ts';

const own = triedRequestTexts;

interface LastRequestsProps {
  readonly requests: readonly KeptRequest[];
  onChoose(request: KeptRequest): void;
}

/** Requests sent before from this page, to fill the form with. */
export const LastRequests = ({ requests, onChoose }: LastRequestsProps) => (
  <Card>
    <Disclosure summary={<span>{own.last(requests.length)}</span>}>
      <p className="py-2 text-small text-dim">{own.about}</p>
      <ol className="flex max-h-72 flex-col gap-1 overflow-y-auto">
        {requests.map(request => (
          <li key={request.id} className="flex items-center gap-3">
            <Button kind="quiet" onClick={() => onChoose(request)}>
              <span className="font-mono break-all whitespace-normal">
                {request.method} {request.path}
              </span>
            </Button>
            <span className="ml-auto shrink-0 text-small text-dim">
              {request.status} · <TimeText time={new Date(request.atMs).toISOString()} />
            </span>
          </li>
        ))}
      </ol>
    </Disclosure>
  </Card>
);
