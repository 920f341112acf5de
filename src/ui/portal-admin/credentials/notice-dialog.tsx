import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { TextAreaField, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.credentials;
const route = 'POST /portal-api/credentials/notify';
const maxHeadlineChars = 200;
const maxTextChars = 5000;

type Notice = ArgumentsOf<typeof route>['body'];
type Outcome = ResultOf<typeof route>;

/** Selected credentials, or the filter of all that match. */
export type NoticeChoice = Pick<Notice, 'IDs' | 'State' | 'Unused' | 'Q'>;

/** Notifies the owners of credentials: that they expire, or with a note; then says what became of each. */
export function NoticeDialog({ choice, onClose }: { choice: NoticeChoice; onClose(): void }) {
  const [headline, setHeadline] = useState('');
  const [text, setText] = useState('');
  const notify = useWrite(route);
  const outcome = notify.data?.value;
  return (
    <Dialog isOpen title={own.notifyTitle} about={own.notifyAbout} onClose={onClose}>
      {outcome ? (
        <NoticeOutcome outcome={outcome} onClose={onClose} />
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={event => {
            event.preventDefault();
            const note = headline.trim() === '' && text.trim() === '' ? {} : { Headline: headline.trim(), Text: text };
            notify.mutate({ given: { body: { ...choice, ...note } } });
          }}
        >
          <ErrorText error={notify.error} />
          <TextField
            label={own.headline}
            help={own.headlineHelp}
            maxLength={maxHeadlineChars}
            value={headline}
            onChange={event => setHeadline(event.target.value)}
          />
          <TextAreaField
            label={own.noticeText}
            maxLength={maxTextChars}
            value={text}
            onChange={event => setText(event.target.value)}
          />
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
            <Button kind="primary" type="submit" isBusy={notify.isPending}>
              {own.notify}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

/** Credentials that are named of each result. */
const maxNamed = 10;

function NoticeOutcome({ outcome: { Owners, Results }, onClose }: { outcome: Outcome; onClose(): void }) {
  const left = Map.groupBy(
    Results.filter(({ Result }) => Result !== 'notified'),
    ({ Result }) => Result,
  );
  return (
    <div className="flex flex-col gap-4">
      <p role="status">{own.notified(Owners)}</p>
      <ul className="flex flex-col gap-2">
        {[...left].map(([result, items]) => (
          <li key={result}>
            {own.notNotified(
              own.noticeResults[result],
              items
                .slice(0, maxNamed)
                .map(({ App, ID }) => own.nameOf(ID, App))
                .join(', '),
              Math.max(0, items.length - maxNamed),
            )}
          </li>
        ))}
      </ul>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          {sharedTexts.kit.close}
        </Button>
      </div>
    </div>
  );
}
