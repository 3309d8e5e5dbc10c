import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { HttpApp } from '#libs/http';
import { buildInfo } from '#libs/telemetry';

/** Serves Swagger's page at /docs and the OpenAPI document at /docs-json. */
export function describeApi(app: HttpApp): void {
  const description = new DocumentBuilder()
    .setTitle('Flotilla paper venue')
    .setDescription(
      'Control of the simulated exchange, from this machine only. What the exchange itself speaks is not described here: it is what Alpaca (/alpaca), Binance (/binance) and GeckoTerminal (/gecko) document, with the key "paper" and the secret "paper-secret".',
    )
    .setVersion(buildInfo().version)
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), {
    jsonDocumentUrl: 'docs-json',
    customSiteTitle: 'Flotilla paper venue',
  });
}
