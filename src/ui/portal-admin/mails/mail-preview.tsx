import { useEffect, useId, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';
import { submitSiteForm } from '../forms/submit-form.ts';

const own = adminTexts.mails;
const framePath = '/portal/private/mail-preview';

interface MailTexts {
  readonly Subject: string;
  readonly Text: string;
  readonly Html: string;
}

/** The draft with sample data, as the server renders it: as text, and as HTML in a frame without scripts. */
export function MailPreviewCard({ mailName, draft: { value } }: { mailName: string; draft: Draft<RecordValue> }) {
  const preview = useWrite('POST /portal-api/mails/{mail_name}/preview');
  const [rendered, setRendered] = useState<MailTexts>();
  const body = { Subject: String(value.Subject), Text: String(value.Text), Html: String(value.Html) };
  const shown = preview.data?.value;
  return (
    <Card
      title={own.previewTitle}
      action={
        <Button
          isBusy={preview.isPending}
          onClick={() =>
            preview.mutate(
              { given: { params: { mail_name: mailName }, body } },
              { onSuccess: () => setRendered(body), onError: () => setRendered(undefined) },
            )
          }
        >
          {own.preview}
        </Button>
      }
    >
      <ErrorText error={preview.error} />
      {shown && (
        <div className="flex flex-col gap-3">
          <p className="font-medium">{shown.Subject}</p>
          {rendered && <MailFrame mailName={mailName} texts={rendered} />}
          <h3>{own.text}</h3>
          <pre className="overflow-auto font-mono whitespace-pre-wrap">{shown.Text}</pre>
        </div>
      )}
    </Card>
  );
}

/** Frame with the document of a mail, which the server sends with a content policy of its own. */
function MailFrame({ mailName, texts }: { mailName: string; texts: MailTexts }) {
  const name = useId();
  useEffect(() => submitSiteForm(framePath, name, { mail: mailName, ...texts }), [name, mailName, texts]);
  return (
    <iframe name={name} title={own.frameTitle} sandbox="" className="h-96 w-full rounded-card border border-line" />
  );
}
