import { Button } from '../../kit/button.tsx';
import { FactList } from '../../kit/card.tsx';
import { IdText, SecretText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.oauthClients;

interface ClientSecretProps {
  readonly title: string;
  readonly client: { readonly client_id: string; readonly secret: string };
  onClose(): void;
}

/** Id and secret, shown once; closed by its button only. */
export const ClientSecretDialog = ({ title, client, onClose }: ClientSecretProps) => (
  <Dialog
    isOpen
    isModalOnly
    onClose={onClose}
    title={title}
    about={own.secretAbout}
    footer={
      <Button kind="primary" onClick={onClose}>
        {own.doneAction}
      </Button>
    }
  >
    <div className="flex flex-col gap-4">
      <FactList rows={[[own.clientId, <IdText key="id" id={client.client_id} maxChars={40} />]]} />
      <section aria-label={own.secret} className="flex flex-col gap-1">
        <h3 className="text-body">{own.secret}</h3>
        <SecretText secret={client.secret} isShownOnce />
      </section>
    </div>
  </Dialog>
);
