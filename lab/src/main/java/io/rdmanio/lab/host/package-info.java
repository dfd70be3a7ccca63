/** What the tools of the lab look up about processes of this machine. */
package io.rdmanio.lab.host;
