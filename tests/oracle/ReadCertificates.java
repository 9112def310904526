// What Java reads from files: CertificateFactory.generateCertificates of the provider SUN, which is also what
// `keytool -printcert -file` calls. First the release of Java and its update, then one line a file: `ok` or
// `refused`, then SHA-256 of each certificate.
//
//     java ReadCertificates.java LIST

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.HexFormat;

public class ReadCertificates {
    public static void main(String[] arguments) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        try (PrintStream out = new PrintStream(new BufferedOutputStream(System.out))) {
            out.print(Runtime.version().feature() + " " + Runtime.version().update() + '\n');
            for (String path : Files.readAllLines(Path.of(arguments[0]))) {
                byte[] bytes = Files.readAllBytes(Path.of(path));
                StringBuilder line = new StringBuilder();
                try {
                    Collection<? extends Certificate> certificates =
                        factory.generateCertificates(new ByteArrayInputStream(bytes));
                    for (Certificate certificate : certificates) {
                        byte[] digest = sha256.digest(certificate.getEncoded());
                        line.append(' ').append(HexFormat.of().formatHex(digest));
                    }
                    line.insert(0, certificates.isEmpty() ? "refused" : "ok");
                } catch (Exception error) {
                    // Not only CertificateException: some inputs make the parser itself stumble.
                    line = new StringBuilder("refused");
                }
                out.print(line.append('\n'));
            }
        }
    }
}
