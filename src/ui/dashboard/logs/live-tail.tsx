import { Pause, Play, Radio, RefreshCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { Notice } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { LogRow, LogSearch } from './log-filters.ts';
import { maxTailRows, type TailState, useLogTail } from './use-log-tail.ts';

const own = texts.logs;
const stateTexts: Readonly<Record<TailState, readonly [Tone, string]>> = {
  connecting: ['neutral', own.connecting],
  open: ['success', own.following],
  ended: ['danger', own.ended],
};

interface LiveTailProps {
  readonly search: LogSearch;
  readonly columns: readonly Column<LogRow>[];
  readonly toolbar: ReactNode;
}

/** Requests as they are stored. Paused, the rows stay and new ones are counted. */
export function LiveTail(props: LiveTailProps) {
  const [attempt, setAttempt] = useState(1);
  return <Connection key={attempt} {...props} onReconnect={() => setAttempt(attempt + 1)} />;
}

interface ConnectionProps extends LiveTailProps {
  onReconnect(): void;
}

function Connection({ search, columns, toolbar, onReconnect }: ConnectionProps) {
  const tail = useLogTail(search);
  const { rows, state, isPaused } = tail;
  return (
    <div className="flex flex-col gap-3">
      {toolbar}
      <TailBar tail={tail} onReconnect={onReconnect} />
      {rows.length === 0 ? (
        <Notice icon={Radio} title={state === 'ended' ? own.ended : isPaused ? own.paused : own.waiting}>
          {state === 'ended' ? own.endedAbout : own.waitingAbout}
        </Notice>
      ) : (
        <DataTable
          label={own.list}
          rows={rows}
          columns={columns}
          idOf={({ id }) => id}
          nameOf={({ call }) => `${call.method} ${call.raw_path}`}
        />
      )}
    </div>
  );
}

function TailBar({ tail, onReconnect }: { tail: ReturnType<typeof useLogTail>; onReconnect(): void }) {
  const { state, rows, isPaused, heldCount, skipped, isKeyCut, pause } = tail;
  const [tone, word] = isPaused && state === 'open' ? (['warning', own.paused] as const) : stateTexts[state];
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      {state === 'ended' ? (
        <Button icon={RefreshCw} onClick={onReconnect}>
          {texts.kit.retry}
        </Button>
      ) : (
        <Button icon={isPaused ? Play : Pause} onClick={() => pause(!isPaused)}>
          {isPaused ? own.resume : own.pause}
        </Button>
      )}
      <span role="status">
        <StatusPill tone={tone}>{word}</StatusPill>
      </span>
      {heldCount > 0 && <span>{own.held(formatNumber(heldCount))}</span>}
      {skipped > 0 && <span className="text-warning">{own.skipped(formatNumber(skipped))}</span>}
      {isKeyCut && <span className="text-warning">{own.keysCut}</span>}
      {rows.length === maxTailRows && <span className="text-dim">{own.newestOnly(formatNumber(maxTailRows))}</span>}
    </div>
  );
}
